// DuckDB: a float as text the way ClickHouse writes it. The digits are the same; DuckDB turns to exponents from 1e16 and below
// 1e-4, ClickHouse from 1e21 and below 1e-6, and whole numbers have no point.
import { once } from '../functions/define.ts'

const DIGITS = (text: string) => `replace(regexp_extract(${text}, '^-?([0-9.]+)', 1), '.', '')`
const EXPONENT = (text: string) => `cast(regexp_extract(${text}, 'e(.+)$', 1) AS INTEGER)`
const SIGN = (text: string) => `CASE WHEN ${text} LIKE '-%' THEN '-' ELSE '' END`

export const floatText = (sql: string): string =>
  once(
    [`CAST(CAST(${sql} AS DOUBLE) AS VARCHAR)`],
    (text) =>
      `CASE WHEN NOT contains(${text}, 'e') THEN regexp_replace(${text}, '\\.0$', '')` +
      ` WHEN ${EXPONENT(text)} BETWEEN 0 AND 20 THEN ${SIGN(text)} || rpad(${DIGITS(text)}, ${EXPONENT(text)} + 1, '0')` +
      ` WHEN ${EXPONENT(text)} BETWEEN -6 AND -1` +
      ` THEN ${SIGN(text)} || '0.' || repeat('0', -1 - ${EXPONENT(text)}) || ${DIGITS(text)}` +
      ` ELSE regexp_replace(${text}, 'e\\+?(-?)0?', 'e\\1') END`,
  )
