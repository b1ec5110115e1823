"""Queries for points: boxes, distances, polygons (search §4.6)."""

import math

from widerow.errors import InvalidRequest
from widerow.limits import SEARCH_POLYGON_POINTS_MAX
from widerow.model.search.query import GeoBoundingBoxQuery, GeoDistanceQuery, GeoPolygonQuery
from widerow.model.search.schema import SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.fields import IndexedField
from widerow.search.places import GeoBox, degrees, distances, in_box, in_polygon
from widerow.search.queries.node import Asked, Node
from widerow.search.queries.terms import LookupNode
from widerow.search.queries.values import point_of, refused_type
from widerow.search.segments import TableView

__all__ = ["box_node", "distance_node", "polygon_node"]


def _points_only(field: IndexedField, query: str) -> None:
    if field.type is not SearchFieldType.GEO_POINT:
        raise refused_type(field, query)


def box_node(query: GeoBoundingBoxQuery, field: IndexedField, tables: list[TableView]) -> Node:
    """GeoBoundingBoxQuery: points between two corners, which belong to the box."""
    _points_only(field, "GEO_BOUNDING_BOX")
    top, left = point_of(query.top_left)
    bottom, right = point_of(query.bottom_right)
    box = GeoBox(top, left, bottom, right)
    return LookupNode(tables, field, lambda stored: in_box(stored, box))


def distance_node(query: GeoDistanceQuery, field: IndexedField, tables: list[TableView]) -> Node:
    """GeoDistanceQuery: points within some metres along the sphere."""
    _points_only(field, "GEO_DISTANCE")
    center = point_of(query.center)
    if not (math.isfinite(query.distance) and query.distance >= 0):
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_WEIGHT, value=str(query.distance))
    return LookupNode(
        tables, field, lambda stored: distances(degrees(stored), center) <= query.distance
    )


def polygon_node(
    query: GeoPolygonQuery, field: IndexedField, tables: list[TableView], asked: Asked
) -> Node:
    """GeoPolygonQuery: points inside a ring of at least three corners."""
    _points_only(field, "GEO_POLYGON")
    if not 3 <= len(query.points) <= SEARCH_POLYGON_POINTS_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_GEO, value=str(len(query.points)))
    corners = [point_of(each) for each in query.points]
    return LookupNode(
        tables, field, lambda stored: in_polygon(degrees(stored), corners, asked.check)
    )
