// The name of the ledger, which no export may take for its own table. Apart from the ledger, so that descriptions of
// destinations stay cheap to load.

export const LEDGER_TABLE = 'longshore_export_runs'

export function ledgerFault({
  table_name,
}: {
  table_name: string
}): { field: string; message: string } | null {
  if (table_name.toLowerCase() !== LEDGER_TABLE) return null
  return { field: 'table_name', message: 'This name is taken by the table of delivered runs.' }
}
