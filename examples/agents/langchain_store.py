"""LangChain's vector store over widerow: texts with vectors and metadata, found by both.

python langchain_store.py [ENDPOINT]
"""

import sys

from langchain_community.vectorstores.tablestore import TablestoreVectorStore
from langchain_core.embeddings.fake import DeterministicFakeEmbedding
from tablestore import FieldSchema, FieldType, TermQuery

SIZE = 8
store = TablestoreVectorStore(
    embedding=DeterministicFakeEmbedding(size=SIZE),  # a real model in earnest
    endpoint=sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8087",
    instance_name="widerow",
    access_key_id="widerow",
    access_key_secret="widerow",  # noqa: S106  # of a server without --credentials
    table_name="langchain",
    vector_dimension=SIZE,
    metadata_mappings=[FieldSchema("kind", FieldType.KEYWORD)],
)
store.create_table_if_not_exist()
store.create_search_index_if_not_exist()
store.add_texts(["tomato soup", "apple cake"], [{"kind": "soup"}, {"kind": "cake"}], ids=["a", "b"])
(near,) = store.similarity_search("tomato soup", k=1)
(cake,) = store.similarity_search(
    "tomato soup", k=2, tablestore_filter_query=TermQuery("kind", "cake")
)
sys.stdout.write(f"nearest: {near.page_content}; among cakes: {cake.page_content}\n")
