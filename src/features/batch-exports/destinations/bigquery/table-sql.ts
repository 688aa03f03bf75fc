// The table that the first run makes, for people: the API is asked for it in its own words, SQL says the same.
import type { OutputColumn } from '../../definition.ts'
import type { BigQueryConfig } from './kind.ts'
import { quote, tableName } from './merge-script.ts'
import { fieldsOf, isByDay } from './tables.ts'

export function tableSql(config: BigQueryConfig, columns: readonly OutputColumn[]): string {
  const definitions = fieldsOf(columns, config).map(({ name, type }) => `${quote(name)} ${type}`)
  const partition = isByDay(columns) ? ' PARTITION BY DATE(`timestamp`)' : ''
  return `CREATE TABLE ${tableName(config, config.table_id)} (${definitions.join(', ')})${partition}`
}
