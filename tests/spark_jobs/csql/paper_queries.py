"""Every query the papers print, as printed, with declarations of the streams they read."""

from __future__ import annotations

ANIMALS = """
CREATE STREAM Pulse (Id INT, Timestamp TIMESTAMP) WITH (topic = 'pulse');
CREATE STREAM BodyCondition (Id INT, Species STRING, BTemp DOUBLE, BloodP DOUBLE, Timestamp TIMESTAMP)
  WITH (topic = 'body');
"""
TRAFFIC = "CREATE STREAM Traffic (speed DOUBLE, timestamp TIMESTAMP) WITH (topic = 'traffic');\n"
SENSORS = "CREATE STREAM Sensors (value DOUBLE, ts BIGINT) WITH (topic = 'sensors');\n"
VEHICLES = "CREATE STREAM Sensors (vehID INT, speed DOUBLE, ts BIGINT) WITH (topic = 'vehicles');\n"

QUERIES: dict[str, tuple[str, str]] = {
    "001 query 1(a)": (
        ANIMALS,
        """
SELECT *
FROM   BodyCondition AS B
WHERE  [Range 1 Minute, Frequency 100 Tuples]
       B.Species = 'horse'
""",
    ),
    "001 query 1(b)": (
        ANIMALS,
        """
SELECT * [Frequency 100 Tuples]
FROM BodyCondition AS B [Range 1 Minute]
WHERE B.Species = 'horse'
""",
    ),
    "001 query 1(c)": (
        ANIMALS,
        """
SELECT *
      [Frequency 100 Tuples Partitioned By B.Id ]
FROM BodyCondition B [Range 1 Minute]
WHERE B.Species = 'horse'
""",
    ),
    "001 query 2": (
        ANIMALS,
        """
SELECT * [Frequency 1 Minute Partitioned By B.Id]
FROM BodyCondition B
      [Frequency 100 Tuples Partitioned By B.Id]
""",
    ),
    "001 query 3": (
        ANIMALS,
        """
SELECT P.Id, COUNT(*)
      [Frequency 10 Tuples Partitioned By P.Id]
FROM Pulse P
      [Range 1 Minute, Frequency 1 Tuple]
GROUP BY P.Id
""",
    ),
    "001 query 4": (
        ANIMALS,
        """
SELECT PR.Id, AVG(PR.Rate)
      [Frequency 1 Minute Partitioned By PR.Id]
FROM (SELECT P.Id, COUNT(*)
      [Frequency 10 Tuples Partitioned By P.Id]
      AS Rate

FROM Pulse P [Range 1 Minute,
              Frequency 1 Tuple]
GROUP BY P.Id )
AS PulseRate PR
      [Range 1 Hour, Frequency 1 Tuple]
GROUP BY PR.Id
""",
    ),
    "000 Q1": (
        TRAFFIC,
        """
SELECT MAX(speed)
FROM Traffic [RANGE 5 minutes
SLIDE 1 minute
WATTR timestamp
SLACK 10]
""",
    ),
    "000 Q2": (
        TRAFFIC,
        """
SELECT MAX(speed)
FROM Traffic [RANGE 5 minutes
SLIDE 1 minute
WATTR timestamp
DRATIO 5%
SLACK 20]
""",
    ),
    "002 Q1": (SENSORS, "SELECT MAX(value)\n    FROM Sensors [RANGE 30 seconds]\n"),
    "002 Q2": (SENSORS, "SELECT MAX(value)\n    FROM Sensors [RANGE 30 seconds, DRATIO 1%]\n"),
    "002 Q3": (SENSORS, "SELECT MAX(value)\n      FROM Sensors [RANGE 5 minutes, DRATIO 1%]\n"),
    "003 Q1": (
        VEHICLES,
        """
SELECT vehID, speed
     FROM Sensors [RANGE 300 seconds
                   SLIDE 30 seconds
                   WATTR ts]
     GROUP BY vehID
     HAVING AVG(speed) > 80
""",
    ),
    "003 Q2": (
        VEHICLES,
        """
SELECT vehID, speed
     FROM Sensors [RANGE 300 seconds
                   SLIDE 30 seconds
                   WATTR ts
                   SLACK 10]
""",
    ),
    "003 Q3": (
        VEHICLES,
        """
SELECT vehID, speed
     FROM Sensors [RANGE 300 seconds
                   SLIDE 30 seconds
                   WATTR ts
                   DRATIO 1%]
""",
    ),
    "003 Q4": (
        VEHICLES,
        """
SELECT vehID, speed
     FROM Sensors [RANGE 300 seconds
                   SLIDE 30 seconds
                   WATTR ts
                   DRATIO 1%
                   BSIZE 100]
""",
    ),
}
