module widerow.test/life

go 1.18

require github.com/oracle/nosql-go-sdk v1.4.7
