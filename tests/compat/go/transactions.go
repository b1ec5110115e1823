package main

import "github.com/aliyun/aliyun-tablestore-go-sdk/tablestore"

const transactional = "transactions"

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
// what others meet meanwhile. The requests of a batch have no place for a transaction in this SDK.
func transactions(client *tablestore.TableStoreClient) facts {
	create(client, transactional, 1)
	seen := facts{}
	for _, end := range []string{"abort", "commit"} {
		putRow(client, withColumn(putChange(transactional, key("a", 1)), "c", "old"))
		putRow(client, withColumn(putChange(transactional, key("a", 2)), "c", "old"))
		id, err := start(client, transactional, "a")
		must(err)
		writeInside(client, id, end)
		seen[end+" inside"] = list{rowInside(client, id), rangeInside(client, id)}
		seen[end+" outside"] = list{rowInside(client, nil), rangeInside(client, nil)}
		seen[end+" others"] = others()
		if end == "abort" {
			_, err = client.AbortTransaction(&tablestore.AbortTransactionRequest{TransactionId: id})
		} else {
			_, err = client.CommitTransaction(&tablestore.CommitTransactionRequest{TransactionId: id})
		}
		must(err)
		seen[end+" after"] = list{rowInside(client, nil), rangeInside(client, nil)}
		_, err = client.CommitTransaction(&tablestore.CommitTransactionRequest{TransactionId: id})
		seen[end+" again"] = refusal(err)
	}
	forged := "not existed transaction id"
	_, err := client.CommitTransaction(&tablestore.CommitTransactionRequest{TransactionId: &forged})
	seen["forged"] = refusal(err)
	return seen
}

// writeInside puts the first row, deletes the second and updates a third that was not there.
func writeInside(client *tablestore.TableStoreClient, id *string, value string) {
	put := withColumn(putChange(transactional, key("a", 1)), "c", value)
	put.TransactionId = id
	putRow(client, put)
	removal := deletion(transactional, key("a", 2))
	removal.DeleteRowChange.TransactionId = id
	_, err := client.DeleteRow(removal)
	must(err)
	update := updateChange(transactional, key("a", 3))
	update.PutColumn("c", value)
	update.TransactionId = id
	_, err = client.UpdateRow(&tablestore.UpdateRowRequest{UpdateRowChange: update})
	must(err)
}

func rowInside(client *tablestore.TableStoreClient, id *string) list {
	wanted := criteria(transactional, key("a", 1))
	wanted.TransactionId = id
	return plainCells(get(client, wanted).Columns)
}

// rangeInside tells the last key columns of the rows that there are.
func rangeInside(client *tablestore.TableStoreClient, id *string) list {
	wanted := span(transactional, key("a", 0), key("a", 9), tablestore.FORWARD, 0)
	wanted.TransactionId = id
	rows, _ := scan(client, wanted)
	numbers := list{}
	for _, row := range rows {
		numbers = append(numbers, row.(list)[0].(list)[1].(list)[1])
	}
	return numbers
}

// others: a second transaction, and a write without one, of the same partition key value.
func others() list {
	_, second := start(hasty, transactional, "a")
	_, write := hasty.PutRow(&tablestore.PutRowRequest{
		PutRowChange: withColumn(putChange(transactional, key("a", 4)), "c", "others"),
	})
	return list{refusal(second), refusal(write)}
}
