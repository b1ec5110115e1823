package main

import "github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"

// start begins a transaction on the rows of a partition key value.
func start(client *tablestore.TableStoreClient, table string, pk string) (*string, error) {
	partition := &tablestore.PrimaryKey{}
	partition.AddPrimaryKeyColumn("pk", pk)
	begun, err := client.StartLocalTransaction(
		&tablestore.StartLocalTransactionRequest{TableName: table, PrimaryKey: partition},
	)
	if err != nil {
		return nil, err
	}
	return begun.TransactionId, nil
}

// transactions: one that is committed and one that is aborted, seen from inside and from outside;
// what others meet meanwhile.
func transactions(client *tablestore.TableStoreClient) facts {
	create(client, "transactions", 1)
	putRow(client, withColumn(putChange("transactions", key("a", 1)), "c", "old"))
	seen := facts{}
	for _, end := range []string{"abort", "commit"} {
		id, err := start(client, "transactions", "a")
		must(err)
		change := withColumn(putChange("transactions", key("a", 1)), "c", end)
		change.TransactionId = id
		putRow(client, change)
		inside := criteria("transactions", key("a", 1))
		inside.TransactionId = id
		seen[end+" inside"] = plainCells(get(client, inside).Columns)
		seen[end+" outside"] = plainCells(
			get(client, criteria("transactions", key("a", 1))).Columns,
		)
		if end == "abort" {
			_, err = client.AbortTransaction(&tablestore.AbortTransactionRequest{TransactionId: id})
		} else {
			_, err = client.CommitTransaction(&tablestore.CommitTransactionRequest{TransactionId: id})
		}
		must(err)
		seen[end+" after"] = plainCells(
			get(client, criteria("transactions", key("a", 1))).Columns,
		)
		_, err = client.CommitTransaction(&tablestore.CommitTransactionRequest{TransactionId: id})
		seen[end+" again"] = refusal(err)
	}
	forged := "not existed transaction id"
	_, err := client.CommitTransaction(&tablestore.CommitTransactionRequest{TransactionId: &forged})
	seen["forged"] = refusal(err)
	return seen
}
