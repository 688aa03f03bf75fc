// Parts of URLs, by pattern: the texts are whatever browsers sent, so nothing here may fail on them.
import { arrayOf, define, INTEGER, type Named, once, TEXT } from './define.ts'

const SCHEME = '[a-zA-Z][a-zA-Z0-9+.-]*'
/** Letters of a host. */
const LETTER = String.raw`[^:/?#@\s<>%{}|\\^~\[\];=&]`
/** Scheme and slashes, if there are any, a name before an @, and the host. As in ClickHouse there must be a dot in it. */
const HOST = `^(?:(?:${SCHEME}:)?//)?(?:[^:/?#@\\s]*@)?(${LETTER}*\\.${LETTER}+)`
/** Everything before the path, also of addresses without a scheme. */
const BEFORE_PATH = `^(?:(?:${SCHEME}:)?//[^/?#]*|[^/?#:]*)`

const domain = (url: string) => `regexp_extract(${url}, '${HOST}(?:[:/?#]|$)', 1)`

const parameters = (url: string) => `string_split(${queryString(url)}, '&')`
const queryString = (url: string) => `regexp_extract(${url}, '^[^?]*\\?([^#]*)', 1)`
const withValues = (list: string) => `list_filter(${list}, lambda part: contains(part, '='))`

const part = (name: string, pattern: string) =>
  define(name, ['text'], TEXT, (url) => `regexp_extract(${url}, '${pattern}', 1, 's')`)

const cut = (name: string, pattern: string, to = '') =>
  define(name, ['text'], TEXT, (url) => `regexp_replace(${url}, '${pattern}', '${to}', 's')`)

/** What does not decode to text is left as it is. */
const decoded = (url: string) => once([url], (it) => `coalesce(try(url_decode(${it})), ${it})`)

export const urlFunctions: readonly Named[] = [
  define('domain', ['text'], TEXT, domain),
  define('domainWithoutWWW', ['text'], TEXT, (url) => `regexp_replace(${domain(url)}, '^www\\.', '')`),
  define(
    'topLevelDomain',
    ['text'],
    TEXT,
    (url) => `regexp_extract(${domain(url)}, '\\.([^.0-9][^.]*)$', 1)`,
  ),
  part('protocol', `^(${SCHEME}):`),
  define('port', ['text'], INTEGER, (url) =>
    once(
      [url],
      (it) =>
        `case when ${it} is not null` +
        ` then coalesce(try_cast(regexp_extract(${it}, '${HOST}:(\\d+)', 2) as integer), 0) end`,
    ),
  ),
  part('path', `${BEFORE_PATH}(/[^?#]*)`),
  part('pathFull', `${BEFORE_PATH}(/.*)`),
  define('queryString', ['text'], TEXT, queryString),
  part('fragment', '#(.*)$'),
  part('queryStringAndFragment', '^(?:[^?]*\\?|[^?#]*)(.*)$'),
  define(
    'extractURLParameter',
    ['text', 'text'],
    TEXT,
    (url, name) => `regexp_extract(${url}, '[?&]' || regexp_escape(${name}) || '=([^&#]*)', 1)`,
  ),
  define('extractURLParameters', ['text'], arrayOf(TEXT), (url) => withValues(parameters(url))),
  define(
    'extractURLParameterNames',
    ['text'],
    arrayOf(TEXT),
    (url) => `list_transform(${withValues(parameters(url))}, lambda part: split_part(part, '=', 1))`,
  ),
  cut('cutQueryString', '\\?[^#]*'),
  cut('cutFragment', '#.*'),
  cut('cutQueryStringAndFragment', '\\?.*|^([^?#]*)#[^?]*$', '\\1'),
  cut('cutWWW', `^((?:${SCHEME}:)?//)www\\.`, '\\1'),
  define('encodeURLComponent', ['text'], TEXT, (text) => `url_encode(${text})`),
  define('decodeURLComponent', ['text'], TEXT, decoded),
  define('encodeURLFormComponent', ['text'], TEXT, (text) => `replace(url_encode(${text}), '%20', '+')`),
  define('decodeURLFormComponent', ['text'], TEXT, (text) => decoded(`replace(${text}, '+', ' ')`)),
]
