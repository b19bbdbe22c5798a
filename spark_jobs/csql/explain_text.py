"""An explanation for people: as text, and as a graph for Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def as_text(explanation: Json) -> str:
    """Return the explanation as lines."""
    lines = [f"warning: {warning}" for warning in explanation["warnings"]]
    for query in explanation["queries"]:
        lines += _query(query, explanation["rows"])
    lines.append("reorderer settings")
    lines += [f"  {topic}: {_settings(each)}" for topic, each in explanation["reorderer"].items()]
    return "\n".join(lines) + "\n"


def _query(query: Json, rows: str) -> list[str]:
    instants = f", {query['instants']}" if query["instants"] else ""
    columns = ", ".join(f"{name} {kind}" for name, kind in query["columns"].items())
    lines = [f"query {query['query']}: {query['kind']}{instants} ({columns})", "", "plan", *_tree(query["before"]), ""]
    if not query["rewrites"]:
        return [*lines, "no rewrite applies", ""]
    lines.append(f"rewrites (counted over {rows} rows)")
    lines += [f"  {_gain(rewrite)}" for rewrite in query["rewrites"]]
    return [*lines, "", "plan after", *_tree(query["after"]), ""]


def _gain(rewrite: Json) -> str:
    before, after = rewrite["before"], rewrite["after"]
    share = f" ({(after - before) / before:+.0%})" if before else ""
    return f"{rewrite['rule']:<24}{rewrite['unit']}: {before:,} -> {after:,}{share}"


def _tree(root: Json) -> list[str]:
    nodes = list(_walk(root, 0))
    width = max(2 * depth + len(node["node"]) for node, depth in nodes)
    return [f"  {'  ' * depth + node['node']:<{width}}  | {_edge(node)} | {node['spark']}" for node, depth in nodes]


def _edge(node: Json) -> str:
    where = "local" if node["local"] else "non-local"
    return f"{node['kind']}, class {node['class']} {node['monotonicity']}, {where}, key ({', '.join(node['key'])})"


def _walk(node: Json, depth: int) -> Iterator[tuple[Json, int]]:
    yield node, depth
    for child in node["inputs"]:
        yield from _walk(child, depth + 1)


def _settings(settings: Json) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items()) or "as configured"


def as_dot(explanation: Json) -> str:
    """Return the plans after rewriting as a graph: `dot -Tsvg` draws it."""
    lines = ["digraph csql {", "  rankdir=BT;", "  node [shape=box, fontname=monospace];"]
    for place, query in enumerate(explanation["queries"]):
        lines.append(f"  subgraph cluster_{place} {{")
        lines.append(f"    label={_quoted(query['query'])};")
        lines += _graph(query["after"], f"q{place}")
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def _graph(node: Json, name: str) -> list[str]:
    lines = [f"    {name} [label={_quoted(node['node'])}, tooltip={_quoted(node['spark'])}];"]
    for place, child in enumerate(node["inputs"]):
        below = f"{name}_{place}"
        lines += _graph(child, below)
        label = _quoted(f"class {child['class']}")
        lines.append(f"    {below} -> {name} [label={label}];")
    return lines


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
