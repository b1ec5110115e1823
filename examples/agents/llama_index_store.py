"""LlamaIndex's vector store over widerow: nodes found by vectors, by words, by both.

python llama_index_store.py [ENDPOINT]
"""

import sys

from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.vector_stores.tablestore import TablestoreVectorStore
from tablestore import FieldSchema, FieldType, OTSClient

endpoint = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8087"
store = TablestoreVectorStore(
    tablestore_client=OTSClient(endpoint, "widerow", "widerow", "widerow"),
    table_name="llama_index",
    vector_dimension=2,
    metadata_mappings=[FieldSchema("kind", FieldType.KEYWORD)],
)
store.create_table_if_not_exist()
store.create_search_index_if_not_exist()
store.add(
    [
        TextNode(id_="a", text="tomato soup", embedding=[1, 0], metadata={"kind": "soup"}),
        TextNode(id_="b", text="apple cake", embedding=[0, 1], metadata={"kind": "cake"}),
    ]
)
for mode in (VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.TEXT_SEARCH):
    query = VectorStoreQuery(
        query_embedding=[1, 0], query_str="cake", similarity_top_k=1, mode=mode
    )
    sys.stdout.write(f"{mode.value}: {', '.join(store.query(query).ids)}\n")
