"""The CSQL language: text -> `program.load` -> plans (`plan`), what flows on their edges (`edges`); all of it pure."""
