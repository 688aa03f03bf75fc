// Errors as ClickHouse's HTTP interface gives them: a number, a name, and a status that follows from them.
import type { Reply } from '../warehouse/cuttable-server.ts'

export class ClickHouseError extends Error {
  constructor(
    readonly code: number,
    readonly title: string,
    message: string,
  ) {
    super(message)
  }
}

const STATUSES: Record<number, number> = { 60: 404, 81: 404, 159: 408, 194: 401, 516: 403 }

export function errorReply({ code, title, message }: ClickHouseError): Reply {
  return {
    status: STATUSES[code] ?? 500,
    headers: { 'x-clickhouse-exception-code': String(code) },
    text: `Code: ${code}. DB::Exception: ${message}. (${title}) (version 26.7.2.1 (official build))\n`,
  }
}
