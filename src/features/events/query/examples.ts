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
  'Orders by day and country': {
    query: {
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', event: 'order paid', math: 'sum', math_property: 'price' }],
      interval: 'day',
      dateRange: { date_from: '-30d' },
      breakdownFilter: { breakdown: '$geoip_country_code', breakdown_type: 'event', breakdown_limit: 5 },
    },
  },
  'A funnel within a day': {
    query: {
      kind: 'FunnelsQuery',
      series: [
        { kind: 'EventsNode', event: '$pageview' },
        { kind: 'EventsNode', event: 'order paid' },
      ],
      dateRange: { date_from: '-30d' },
      funnelsFilter: { funnelWindowInterval: 1, funnelWindowIntervalUnit: 'day' },
    },
  },
  'Who came again, by week': {
    query: {
      kind: 'RetentionQuery',
      retentionFilter: {
        period: 'Week',
        totalIntervals: 6,
        targetEntity: { id: 'signed up', type: 'events' },
        returningEntity: { id: '$pageview', type: 'events' },
        retentionType: 'retention_first_time',
      },
    },
  },
  'The newest events': {
    query: { kind: 'EventsQuery', select: ['*'], after: '-24h', limit: 10 },
  },
}
