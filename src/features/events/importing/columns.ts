// The columns that files of events have: ours, those of PostHog's exports to every kind of destination, and the fields of
// its API. All others are passed over: they tell of the project, the person as it was, or when the row was written.

export const COLUMNS = [
  'uuid',
  'id',
  'event',
  'distinct_id',
  '$distinct_id',
  'timestamp',
  'properties',
  '$set',
  'set',
  'people_set',
  '$set_once',
  'set_once',
  'people_set_once',
  'ip',
  'elements_chain',
  'elements',
] as const
