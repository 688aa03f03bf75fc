import { useQuery } from '@tanstack/react-query'
import { statusQuery } from '../batch-exports/queries'
import { attentionOf } from '../overview/attention'
import classes from './Rail.module.css'

const REFRESH_MS = 60_000

/** How many exports need attention, beside their place in the rail. Pages that show exports ask the same more often. */
export function ExportsCount({ projectId, isFolded }: { projectId: string; isFolded: boolean }) {
  const { data } = useQuery({
    ...statusQuery(projectId),
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
    // Nothing here is worth a second try or a message: the pages say what is wrong.
    retry: false,
  })
  const count = data === undefined ? 0 : attentionOf(projectId, data.results, []).length
  if (count === 0) return null
  const words = count === 1 ? 'needs attention' : 'need attention'
  return (
    <span className={classes.count} data-folded={isFolded || undefined} title={`${count} ${words}`}>
      {count}
      <span className="aloud"> {words}</span>
    </span>
  )
}
