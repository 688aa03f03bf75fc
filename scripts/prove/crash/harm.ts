// What could go wrong at the destinations without the server's knowledge, done there on purpose: a verification that does
// not name each of them would call anything well.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ProblemKind } from '../../../src/features/batch-exports/verification/rows.ts'
import { listNames } from './leftovers.ts'
import type { Kind, Places } from './places.ts'

/** What a line of `longshore verify` must hold. */
export type Harm = { kind: ProblemKind; what: string }

export async function harmEverything(places: Places): Promise<Harm[]> {
  return [
    ...(await harmFiles(places, 'folder', 'lines/')),
    ...(await harmFiles(places, 'folder', 'parquet/')),
    ...(await harmFiles(places, 'bucket', 'scheduled/')),
    ...(await harmTable(places)),
  ]
}

/** Among the oldest, which later runs, backfills and repairs came after. */
async function harmFiles(places: Places, kind: Kind, prefix: string): Promise<Harm[]> {
  const names = (await listNames(places, kind))
    .filter((name) => name.startsWith(prefix) && !name.endsWith('_manifest.json'))
    .toSorted()
  const [flipped, removed] = names
  if (removed === undefined) throw new Error(`fewer than two files are in ${prefix}`)
  const content = Buffer.from((await places.read(kind, flipped!))!)
  const middle = content.length >> 1
  content.writeUInt8(content.readUInt8(middle) ^ 1, middle)
  await write(places, kind, flipped!, content)
  await remove(places, kind, removed)
  const stray = removed.replace(/[^/]+$/, (name) => `of-nobody-${name}`)
  await write(places, kind, stray, content)
  return [
    { kind: 'changed_file', what: flipped! },
    { kind: 'missing_file', what: removed },
    { kind: 'stray_file', what: stray },
  ]
}

async function write({ folder, bucket }: Places, kind: Kind, name: string, content: Buffer): Promise<void> {
  if (kind !== 'bucket') return writeFile(join(folder, name), content)
  // A store may keep an object's marks while its bytes decay.
  const [like] = bucket.objects.values()
  bucket.objects.set(name, { ...(bucket.objects.get(name) ?? like!), content })
}

async function remove({ folder, bucket }: Places, kind: Kind, name: string): Promise<void> {
  if (kind === 'bucket') bucket.objects.delete(name)
  else await rm(join(folder, name))
}

async function harmTable({ warehouse: { admin } }: Places): Promise<Harm[]> {
  const { rows } = await admin.query<{ uuid: string }>(
    'SELECT uuid FROM public.events ORDER BY timestamp, uuid LIMIT 3',
  )
  const [doubled, changed, removed] = rows.map(({ uuid }) => uuid)
  if (removed === undefined) throw new Error('fewer than three rows are in the table')
  const stray = crypto.randomUUID()
  await admin.query('INSERT INTO public.events SELECT * FROM public.events WHERE uuid = $1', [doubled])
  await admin.query('UPDATE public.events SET event = $1 WHERE uuid = $2', ['tampered', changed])
  await admin.query('DELETE FROM public.events WHERE uuid = $1', [removed])
  await admin.query(
    `INSERT INTO public.events SELECT (jsonb_populate_record(row, jsonb_build_object('uuid', $1::text))).*
     FROM public.events AS row WHERE uuid = $2`,
    [stray, changed],
  )
  return [
    { kind: 'doubled_row', what: doubled! },
    { kind: 'changed_row', what: changed! },
    { kind: 'missing_row', what: removed },
    { kind: 'stray_row', what: stray },
  ]
}
