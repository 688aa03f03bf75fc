// The words that mean something to HogQL, and where each may still be an ordinary name.

/** Every word with a meaning. Most remain usable as names wherever a name is expected: `select timestamp.day`. */
export const KEYWORDS: ReadonlySet<string> = new Set(
  (
    'all and anti any array as asc ascending asof between both by case cast catch cohort collate columns cross ' +
    'cube current date day desc descending distinct else end except exclude extract fill filter final finally ' +
    'first fn following for from full fun group grouping having hour id if ignore ilike in include inf infinity ' +
    'inner interpolate intersect interval is join key lambda last leading left let like limit local ' +
    'materialized minute month name nan natural not null nulls offset on or order outer over partition pivot ' +
    'positional preceding prewhere qualify quarter range recursive replace return right rollup row rows sample ' +
    'second select semi sets settings step substring then throw ties time timestamp to top totals trailing trim ' +
    'truncate try try_cast unbounded union unpivot using values week when where while window with within year ' +
    'yyyy zone'
  ).split(' '),
)

/** Never a name unless quoted. */
export const RESERVED: ReadonlySet<string> = new Set(
  'catch except finally fn fun inf infinity intersect let materialized nan null throw try while within'.split(
    ' ',
  ),
)

/** Keywords that name a column without AS: `select a date`. */
export const COLUMN_ALIAS_WORDS: ReadonlySet<string> = new Set(
  'asc ascending cohort date descending final id return top totals'.split(' '),
)

/** Keywords that name a table without AS: `from events first`. */
export const TABLE_ALIAS_WORDS: ReadonlySet<string> = new Set(['date', 'first', 'id', 'key'])

/** Unquoted, these would be mistaken for a constant, or for the column that fences projects off. */
export const FORBIDDEN_ALIASES: ReadonlySet<string> = new Set(['true', 'false', 'null', 'team_id'])

/** Words that carry an expression on, so a keyword before one of them is a name: `case is null`. */
export const OPERATOR_WORDS: ReadonlySet<string> = new Set(
  'and as between ignore ilike in is like or'.split(' '),
)

/** Unit of an interval to the function that makes it. */
export const INTERVAL_UNITS: ReadonlyMap<string, string> = new Map([
  ['second', 'toIntervalSecond'],
  ['minute', 'toIntervalMinute'],
  ['hour', 'toIntervalHour'],
  ['day', 'toIntervalDay'],
  ['week', 'toIntervalWeek'],
  ['month', 'toIntervalMonth'],
  ['quarter', 'toIntervalQuarter'],
  ['year', 'toIntervalYear'],
  ['yyyy', 'toIntervalYear'],
])

/** Words that may stand after `::` besides plain names and units. */
export const CAST_TYPE_WORDS: ReadonlySet<string> = new Set(['date', 'time', 'timestamp', 'interval'])

/** What a misspelt word between the parts of a query is compared with. */
export const CLAUSE_WORDS: readonly string[] =
  'SELECT FROM WHERE GROUP HAVING ORDER LIMIT OFFSET JOIN LEFT INNER UNION BETWEEN AND LIKE ILIKE'.split(' ')

/** What follows one of these is no alias. */
export const OPERAND_FOLLOWS: ReadonlySet<string> = new Set(
  (
    'and as between by case distinct else from having ilike in join like limit not offset on or prewhere select ' +
    'then when where'
  ).split(' '),
)
