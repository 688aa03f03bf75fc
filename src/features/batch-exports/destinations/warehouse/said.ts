// What a warehouse says of an error, fit for the log of an export: without secrets, without values of rows, and with what
// to do where that is known. For BigQuery, Snowflake, Databricks and ClickHouse.
import { Redactor } from '../../../../platform/secrets/redactor.ts'
import { scrub } from '../../scrub.ts'

/** Where these warehouses quote a value: after such a word, in quotes, or to the end of the message. */
const QUOTED = /\b(value|string|timestamp|date|time|boolean|number)s? (['"]).*\2/gis
const TO_THE_END = /\b(values?|invalid (?:timestamp|date|datetime|time|json)|record parsing)(?: is)?: .*$/is

export function said(place: string, message: string, secrets: readonly string[], advice = ''): string {
  const text = withoutValues(scrub(message, new Redactor(secrets))).replace(/\.$/, '')
  return `${place}: ${text}.${advice === '' ? '' : ` ${advice}`}`
}

function withoutValues(message: string): string {
  return message.replaceAll(QUOTED, '$1 …').replace(TO_THE_END, '$1 …')
}
