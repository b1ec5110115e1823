"""The store of mem0 over widerow: memories of a user, by vectors.

In an application the same fields stand in mem0's configuration, under `vector_store`, with
`"provider": "aliyun_tablestore"`; the model that makes vectors is named there, too.

    python mem0_store.py [ENDPOINT]
"""

import sys

from agentrun_mem0.vector_stores.aliyun_tablestore import AliyunTableStore

store = AliyunTableStore(
    endpoint=sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8087",
    instance_name="widerow",
    access_key_id="widerow",
    access_key_secret="widerow",  # noqa: S106  # of a server without --credentials
    vector_dimension=2,
    collection_name="mem0",
)
store.insert(
    vectors=[[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]],
    payloads=[
        {"data": "likes green tea", "user_id": "ann"},
        {"data": "has a cat", "user_id": "ann"},
        {"data": "likes coffee", "user_id": "ben"},
    ],
    ids=["m1", "m2", "m3"],
)
hits = store.search("drinks", [1.0, 0.0], limit=1, filters={"user_id": "ann"})
kept = store.list(filters={"user_id": "ann"})[0]
sys.stdout.write(f"{hits[0].payload['data']}; {len(kept)} memories of ann\n")
