// The form that values take at a destination: kinds, documented types, and texts cut to the length that those allow.
import type { ColumnKind, Form } from '../../../platform/event-store/export-rows.ts'
import type { Type } from '../../../platform/event-store/value-type.ts'
import type { OutputColumn } from '../definition.ts'
import type { ColumnSet } from '../destinations/destination.ts'
import type { SourceColumn } from './source-rows.ts'

export type Target = { columns: ColumnSet; config: Readonly<Record<string, unknown>> }

type Documented = Omit<OutputColumn, 'name'>

/** The longest VARCHAR of Redshift, in bytes. */
const LONGEST = 65_535
const LONG_TEXT: Documented = { kind: 'text', type: `VARCHAR(${LONGEST})`, max_characters: LONGEST }
const SHORT_TEXT: Documented = { kind: 'text', type: 'VARCHAR(200)', max_characters: 200 }

const hasVarchars = (columns: ColumnSet) => columns === 'postgres' || columns === 'redshift'

const KINDS: Readonly<Record<Type['kind'], ColumnKind>> = {
  text: 'text',
  property: 'text',
  uuid: 'text',
  interval: 'text',
  null: 'text',
  unknown: 'text',
  integer: 'integer',
  float: 'float',
  boolean: 'boolean',
  datetime: 'timestamp',
  date: 'timestamp',
  json: 'json',
  array: 'json',
  tuple: 'json',
}

export function outputColumn({ name, type, hint }: SourceColumn, target: Target): OutputColumn {
  return { name, ...documented(hint, isJson({ type, hint }) ? 'json' : KINDS[type.kind], target) }
}

const isText = ({ kind }: Type) => kind === 'text' || kind === 'property'
const isJson = ({ type, hint }: Pick<SourceColumn, 'type' | 'hint'>) =>
  KINDS[type.kind] === 'json' || (hint === 'json' && isText(type))

function documented(hint: SourceColumn['hint'], kind: ColumnKind, target: Target): Documented {
  const { columns } = target
  if (kind === 'json') return documentedJson(target)
  if (hint === 'varchar200' && hasVarchars(columns)) return SHORT_TEXT
  if (hint === 'int32' && hasVarchars(columns)) return { kind, type: 'INTEGER' }
  return kind === 'text' && columns === 'redshift' ? LONG_TEXT : { kind }
}

/** Where there is no type for JSON, or it was not chosen, JSON goes out as text. */
function documentedJson({ columns, config }: Target): Documented {
  switch (columns) {
    case 'redshift':
      return config.properties_data_type === 'super' ? { kind: 'json', type: 'SUPER' } : LONG_TEXT
    case 'bigquery':
      return config.use_json_type === true ? { kind: 'json', type: 'JSON' } : { kind: 'text', type: 'STRING' }
    case 'databricks':
      return config.use_variant_type === false
        ? { kind: 'text', type: 'STRING' }
        : { kind: 'json', type: 'VARIANT' }
    default:
      return { kind: 'json' }
  }
}

/** How the values of a column become what it holds. */
export function formOf({ type, hint }: SourceColumn, { max_characters }: OutputColumn, target: Target): Form {
  // Redshift counts bytes, PostgreSQL characters.
  const unit = target.columns === 'redshift' ? 'bytes' : 'characters'
  return {
    type,
    is_json: isJson({ type, hint }),
    max: max_characters === undefined ? null : { length: max_characters, unit },
  }
}
