// Which kind of backfill made a run: a run names its backfill, and the list of backfills knows the rest.
import { useInfiniteQuery } from '@tanstack/react-query'
import { backfillsQuery, type Backfill, type ExportPath } from '../queries'

/** By the id of the backfill, of the latest ones. */
export type BackfillKinds = ReadonlyMap<string, Backfill['kind']>

export function useBackfillKinds(path: ExportPath): BackfillKinds {
  // A backfill never changes its kind: new ones come with the changes that make them.
  const { data } = useInfiniteQuery({ ...backfillsQuery(path), refetchInterval: false })
  const all = data?.pages.flatMap(({ results }) => results) ?? []
  return new Map(all.map(({ id, kind }) => [id, kind]))
}
