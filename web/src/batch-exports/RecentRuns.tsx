import { countText, timeText } from '../ui/format'
import { useZone } from '../ui/Values'
import { linkToExport } from './addresses'
import type { ExportPath, ExportStatus } from './queries'
import { RunBars } from './RunBars'
import { runState } from './states'

/** The last runs of an export as a strip, the newest at the right; a click opens the run. */
export function RecentRuns({ path, runs }: { path: ExportPath; runs: ExportStatus['recent_runs'] }) {
  const zone = useZone()
  if (runs.length === 0) return <span className="quiet">none yet</span>
  const bars = runs.toReversed().map(({ id, status, rows, data_interval_end }) => ({
    key: id,
    kind: runState(status).kind,
    rows: rows ?? 0,
    title: `${runState(status).text}, ${timeText(data_interval_end, zone, 'minute')}, ${countText(rows ?? 0)} rows`,
    link: linkToExport(path, 'runs', { run: id }),
  }))
  const count = (kind: string) => bars.filter((bar) => bar.kind === kind).length
  const summary = `Of ${runs.length === 1 ? '1 run' : `the last ${runs.length} runs`} ${count('delivered')} delivered and ${count('failed')} failed.`
  return <RunBars bars={bars} most={Math.max(...bars.map(({ rows }) => rows))} summary={summary} isShort />
}
