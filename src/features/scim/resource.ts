// What users and groups have in common to those who serve them: one at a time, in lists and in bulk.
import type { JsonObject } from '../../lib/json-object.ts'
import type { Directory } from './directory.ts'
import type { ResourceType } from './protocol/attributes.ts'
import type { Filter, Path } from './protocol/filter.ts'

/** Throws 412 when the resource is not the one that the caller has seen. */
export type Condition = (etag: string) => void

export type Search = {
  filter: Filter | null
  sort: { path: Path; is_descending: boolean } | null
  offset: number
  limit: number
  /** Whether the answer shows the members of groups. */
  with_members: boolean
}

export type Found<Row> = { count: number; rows: Row[] }

export type Resource<Row> = {
  type: ResourceType
  present(directory: Directory, row: Row): JsonObject
  etag(row: Row): string
  search(directory: Directory, search: Search): Promise<Found<Row>>
  get(directory: Directory, id: string): Promise<Row>
  create(directory: Directory, body: unknown): Promise<Row>
  replace(directory: Directory, id: string, body: unknown, condition: Condition): Promise<Row>
  patch(directory: Directory, id: string, body: unknown, condition: Condition): Promise<Row>
  remove(directory: Directory, id: string, condition: Condition): Promise<void>
}
