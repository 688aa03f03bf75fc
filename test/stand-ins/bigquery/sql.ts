// The statements that the BigQuery destination sends, as DuckDB's. Any other statement is an error.
import { digestShapes, type DigestWords } from '../warehouse/digest-shapes.ts'
import { partsOf, quoted } from '../warehouse/tables.ts'

const DIGEST_WORDS: DigestWords = {
  name: '§',
  text: '¤',
  text_type: 'STRING',
  integer_type: 'INT64',
  parameter: '@bucket',
  md5: (text) => `TO_HEX\\(MD5\\(${text}\\)\\)`,
  numberOf: (digits) => `CAST\\(CONCAT\\(¤, ${digits}\\) AS INT64\\)`,
  micros: (value) => `UNIX_MICROS\\(${value}\\)`,
  json: (value) => `TO_JSON_STRING\\(${value}\\)`,
  moment: 'CAST\\(¤ AS TIMESTAMP\\)',
}

const KNOWN = [
  /^DECLARE (first|last)_at DEFAULT \(SELECT (MIN|MAX)\((§|CAST\(§ AS [A-Z0-9]+\))\) FROM §\)$/,
  /^BEGIN TRANSACTION$/,
  /^COMMIT TRANSACTION$/,
  /^INSERT INTO § \([^()]+\) SELECT (s\.§(, )?)+ FROM \(SELECT .+ FROM §\) AS s( WHERE NOT EXISTS \(SELECT 1 FROM § AS t WHERE t\.§ = s\.§( AND t\.§ = s\.§)*( AND t\.§ BETWEEN first_at AND last_at)?\))?$/,
  /^MERGE INTO § AS t USING \(SELECT .+ FROM §\) AS s ON (t\.§ = s\.§( AND )?)+ WHEN MATCHED AND \(.+\) THEN UPDATE SET .+ WHEN NOT MATCHED THEN INSERT \([^()]+\) VALUES \([^()]+\)$/,
  /^MERGE INTO § AS t USING \(SELECT (r\.§, )+c\.longshore_is_added FROM \(SELECT .+ FROM §\)( AS s LEFT JOIN § AS n ON .+ WHERE n\.§ IS NULL\))? AS r CROSS JOIN \(SELECT TRUE AS longshore_is_added UNION ALL SELECT FALSE AS longshore_is_added\) AS c WHERE TRUE QUALIFY c\.longshore_is_added OR ROW_NUMBER\(\) OVER \(PARTITION BY (r\.§, )+c\.longshore_is_added ORDER BY r\.§(, r\.§)*\) = 1\) AS s ON (t\.§ = s\.§ AND )+NOT s\.longshore_is_added WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s\.longshore_is_added THEN INSERT \([^()]+\) VALUES \([^()]+\)$/,
  /^DELETE FROM § WHERE run_id = @run_id$/,
  /^INSERT INTO § \(run_id, batch_export_id, table_name, §, finished_at\) VALUES \(@run_id, @batch_export_id, @table_name, @rows, CURRENT_TIMESTAMP\(\)\)$/,
  /^SELECT § FROM § WHERE run_id = @run_id$/,
  ...digestShapes(DIGEST_WORDS).map((shape) => new RegExp(`^${shape}$`)),
]

/** `dataset` is `project.dataset`: what does not stand in it is not there. */
export function toDuckDb(script: string, dataset: string): string[] {
  return script.split(';\n').map((statement) => {
    const parts = partsOf(statement, '`')
    const shape = parts
      .map(({ kind, text }) => (kind === 'name' ? '§' : kind === 'text' ? '¤' : text))
      .join('')
    if (!KNOWN.some((known) => known.test(shape))) throw new Error(`Syntax error: ${statement}`)
    return parts
      .map(({ kind, text }) => {
        if (kind === 'text') return `'${text.replaceAll("'", "''")}'`
        return kind === 'name' ? nameOf(unescaped(text), dataset) : codeOf(text)
      })
      .join('')
      .replaceAll(/TO_JSON_STRING\(("(?:""|[^"])*")\)/g, 'printed_json(CAST($1 AS VARCHAR))')
      .replaceAll(/PARSE_JSON\(("(?:""|[^"])*"), wide_number_mode => 'round'\)/g, 'CAST($1 AS JSON)')
  })
}

function nameOf(name: string, dataset: string): string {
  return quoted(name.startsWith(`${dataset}.`) ? name.slice(dataset.length + 1) : name)
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1')
}

function codeOf(code: string): string {
  return code
    .replaceAll('CURRENT_TIMESTAMP()', 'now()::TIMESTAMP')
    .replace(/^DECLARE (\w+) DEFAULT /, 'SET VARIABLE $1 = ')
    .replaceAll(/\b(first_at|last_at)(?! =)\b/g, "getvariable('$1')")
    .replaceAll(/@(\w+)/g, '$$$1')
    .replaceAll(/\bSTRING\b/g, 'VARCHAR')
    .replaceAll(/\bINT64\b/g, 'BIGINT')
    .replaceAll('TO_HEX(MD5(', '(md5(')
    .replaceAll('UNIX_MICROS(', 'epoch_us(')
    .replaceAll('COMMIT TRANSACTION', 'COMMIT')
}
