// What statements of exports need of the engine, so that the same rows always give the same bytes.
import type { ClickHouseSettings } from '@clickhouse/client'
import type { ExportFormat } from '../../event-store.ts'

export const EXPORT_SETTINGS: ClickHouseSettings = {
  // Lists and tuples as JSON: numbers without quotes, tuples as lists, null for what JSON does not know.
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_denormals: 0,
  output_format_json_named_tuples_as_objects: 0,
  output_format_json_escape_forward_slashes: 0,
  // A statement over a thousand areas is long.
  max_query_size: String(16 * 1024 * 1024),
  max_ast_elements: '1000000',
  max_expanded_ast_elements: '1000000',
  max_execution_time: 0,
}

/**
 * One row group, whatever blocks the rows come in: whoever asks for rows has cut them into stretches that fit. Files are joined
 * behind their row groups, so these hold all that there is.
 */
const PARQUET: ClickHouseSettings = {
  output_format_parquet_row_group_size: '1000000000',
  output_format_parquet_row_group_size_bytes: String(2 ** 40),
  output_format_parquet_parallel_encoding: 0,
  output_format_parquet_write_page_index: 0,
  output_format_parquet_write_bloom_filter: 0,
  output_format_parquet_string_as_string: 1,
}

export function settingsOf(format: ExportFormat): ClickHouseSettings {
  if (format.kind !== 'parquet') return EXPORT_SETTINGS
  const { compression, level } = format
  return {
    ...EXPORT_SETTINGS,
    ...PARQUET,
    output_format_parquet_compression_method: compression,
    ...(level === undefined ? {} : { output_format_compression_level: String(level) }),
  }
}
