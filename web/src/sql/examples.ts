// Queries to start from. Each runs on any project.

export const EXAMPLES: readonly { title: string; text: string }[] = [
  {
    title: 'Events by name',
    text: `select event, count() as events
from events
where timestamp > now() - interval 30 day
group by event
order by events desc
limit 20`,
  },
  {
    title: 'Events a day, by name',
    text: `select toDate(timestamp) as day, event, count() as events
from events
where timestamp > now() - interval 30 day
group by day, event
order by day
limit 1000`,
  },
  {
    title: 'Active people a day',
    text: `select toDate(timestamp) as day, uniq(person_id) as people
from events
where timestamp > now() - interval 30 day
group by day
order by day
limit 100`,
  },
  {
    title: 'Events in the last day',
    text: `select count() as events
from events
where timestamp > now() - interval 1 day`,
  },
  {
    title: 'Browsers of visitors',
    text: `select properties.$browser as browser, uniq(person_id) as people
from events
where event = '$pageview' and timestamp > now() - interval 30 day
group by browser
order by people desc
limit 20`,
  },
  {
    title: 'Most visited pages',
    text: `select properties.$pathname as page, count() as views, uniq(person_id) as people
from events
where event = '$pageview' and timestamp > now() - interval 30 day
group by page
order by views desc
limit 20`,
  },
  {
    title: 'Newest events',
    text: `select timestamp, event, distinct_id, properties
from events
where timestamp > now() - interval 1 day
order by timestamp desc
limit 100`,
  },
  {
    title: 'People by property',
    text: `select id, created_at, properties.email as email
from persons
order by created_at desc
limit 100`,
  },
]
