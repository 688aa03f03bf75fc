import { expect, it } from 'vitest'
import { plainStores } from './plain-stores.ts'

const HOST = 'postgres://u:secret@db.example.com/longshore'

it.each<[string | null, string | null, RegExp[]]>([
  [null, null, []],
  ['postgres://u:p@127.0.0.1/x', 'http://u:p@localhost:8123/x', []],
  ['postgres://u:p@[::1]/x', 'http://u:p@[::1]:8123/x', []],
  ['postgres://u@/x?host=/var/run/postgresql', null, []],
  [`${HOST}?sslmode=verify-full`, 'https://u:p@ch.example.com:8443/x', []],
  [HOST, null, [/^DATABASE_URL leads to db\.example\.com without TLS: add/]],
  [`${HOST}?sslmode=disable`, null, [/without TLS/]],
  [`${HOST}?sslmode=no-verify`, null, [/without checking its certificate/]],
  [null, 'http://u:secret@10.0.0.7:8123/x', [/^CLICKHOUSE_URL leads to 10\.0\.0\.7 without TLS: use https/]],
])('%s and %s', (DATABASE_URL, CLICKHOUSE_URL, said) => {
  const found = plainStores({ DATABASE_URL, CLICKHOUSE_URL })
  expect(found).toEqual(said.map((text) => expect.stringMatching(text)))
  expect(found.join()).not.toContain('secret')
})
