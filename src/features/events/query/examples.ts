// Bodies for the documentation.

export const QUERY_EXAMPLES = {
  'Events by name': {
    query: {
      kind: 'HogQLQuery',
      query: 'select event, count() as events from events group by event order by events desc limit 10',
    },
  },
  'Values in place of names': {
    query: {
      kind: 'HogQLQuery',
      query: 'select count() from events where event = {name} and timestamp > now() - interval 7 day',
      values: { name: 'order paid' },
    },
  },
  'Where properties are read': {
    query: {
      kind: 'HogQLQuery',
      query: "select count() from events where properties.plan = 'enterprise'",
      explain: true,
    },
  },
  'The newest events': {
    query: { kind: 'EventsQuery', select: ['*'], after: '-24h', limit: 10 },
  },
}
