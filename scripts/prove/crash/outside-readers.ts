// What stands in files, read by programs that are not ours.
import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { gunzipSync } from 'node:zlib'

export async function uuidsIn(name: string, content: Buffer): Promise<string[]> {
  if (name.includes('.parquet')) return uuidsOfParquet(content)
  const text = (name.endsWith('.gz') ? gunzipSync(content) : content).toString()
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { uuid: string }).uuid)
}

async function uuidsOfParquet(content: Buffer): Promise<string[]> {
  const file = content.buffer.slice(content.byteOffset, content.byteOffset + content.length) as ArrayBuffer
  const rows = await parquetReadObjects({ file, columns: ['uuid'], compressors })
  return rows.map(({ uuid }) => String(uuid))
}
