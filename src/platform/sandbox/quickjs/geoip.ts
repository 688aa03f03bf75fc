// geoip.locate: a record of the database, named as apps know it from MaxMind's own package.
import { Reader, type Response } from 'mmdb-lib'
import { isIP } from 'node:net'
import { isObject, type JsonObject } from '../../../lib/json-object.ts'

export type Locate = (address: string) => JsonObject | null

export function openLocate(database: SharedArrayBuffer | null): Locate {
  if (database === null) return () => null
  let reader: Reader<Response> | undefined
  return (address) => {
    if (isIP(address) === 0) return null
    reader ??= new Reader(Buffer.from(database))
    const record: unknown = reader.get(address)
    return isObject(record) ? { ...toCamelCase(record), traits: { ipAddress: address } } : null
  }
}

function toCamelCase(record: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [camel(key), convert(value)]))
}

function convert(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convert)
  return isObject(value) ? toCamelCase(value) : value
}

const camel = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
