// The proof that nothing is missing: one bar that adds up, what was read back, and every interval as a column and as a row.
import { Button, Group, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { countText } from '../../ui/format'
import { Empty, Failed, Loading } from '../../ui/States'
import { TextLink } from '../../ui/TextLink'
import { TimeRange } from '../../ui/TimeRange'
import { Details } from '../../ui/Details'
import { useZone } from '../../ui/Values'
import { exportRoute, linkToExport, useExportPath } from '../addresses'
import { RangeDialog } from '../backfills/RangeDialog'
import { estimateQuery, type Export, type IntervalAccount } from '../queries'
import { IntervalText } from '../runs/IntervalText'
import { RunDetails } from '../runs/RunDetails'
import type { ExportSearch } from '../search'
import { missingIn, sumOf } from './balance'
import { BalanceBar } from './BalanceBar'
import { IntervalTable } from './IntervalTable'
import { linesOf, rangeOfPicked, within, type Range } from './lines'
import { Picture } from './Picture'
import classes from './ProofTab.module.css'
import { reconciliationQuery } from './queries'
import { ReadBack } from './ReadBack'

export function ProofTab({ data }: { data: Export }) {
  const path = useExportPath()
  const search = exportRoute.useSearch()
  const navigate = exportRoute.useNavigate()
  const change = (next: Partial<ExportSearch>, replace = true) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace })
  const proof = useInfiniteQuery(reconciliationQuery(path, data.interval))
  const projectZone = useZone() ?? 'UTC'
  if (proof.isPending) return <Loading />
  if (proof.isError && !proof.data)
    return (
      <Failed
        error={proof.error}
        what="The account could not be drawn up."
        onRetry={() => void proof.refetch()}
      />
    )

  const newest = proof.data!.pages[0]!
  const accounts = proof.data!.pages.flatMap(({ results }) => results)
  const zone = data.interval === 'day' || data.interval === 'week' ? data.timezone : projectZone
  const chosen: Range | null =
    search.from !== undefined && search.to !== undefined ? { from: search.from, to: search.to } : null
  const choose = (range: Range | null) => change({ from: range?.from, to: range?.to })
  const openInterval = accounts.find(({ run }) => run === search.run)

  return (
    <div className={classes.proof}>
      <section aria-label="Account" className={classes.account}>
        <BalanceBar counts={newest.totals} model={newest.model} accounts={accounts} />
        <ReadBack standing={newest.verification} range={chosen} accounts={accounts} />
      </section>
      {accounts.length === 0 ? (
        <Empty title="No interval of the schedule has ended yet">
          Each interval becomes a column here: how many events it had, and whether they are at the
          destination. What backfills delivered is in the bar, and day by day in{' '}
          <TextLink {...linkToExport(path, 'backfills')}>their calendar</TextLink>.
        </Empty>
      ) : (
        <>
          <section aria-label="Intervals">
            <Picture
              lines={linesOf(accounts, data.interval, zone)}
              chosen={chosen}
              onChoose={choose}
              onOpen={(run) => change({ run }, false)}
            />
            <Group gap="sm" justify="space-between" mt="sm">
              <Group gap="sm" flex="1 1 320px">
                <TimeRange
                  value={chosen === null ? {} : { after: chosen.from, before: chosen.to }}
                  any="All intervals"
                  onChange={(picked) => choose(rangeOfPicked(picked, accounts, projectZone))}
                />
                <ChoiceText
                  accounts={accounts}
                  chosen={chosen}
                  zone={zone}
                  projectZone={projectZone}
                  onClear={() => choose(null)}
                />
              </Group>
              <Heal accounts={accounts} chosen={chosen} hasSkipped={(newest.totals.skipped ?? 0) > 0} />
            </Group>
            {proof.hasNextPage && (
              <Button
                variant="default"
                mt="sm"
                loading={proof.isFetchingNextPage}
                onClick={() => void proof.fetchNextPage()}
              >
                Show earlier intervals
              </Button>
            )}
          </section>
          <IntervalTable
            accounts={chosen === null ? accounts : within(accounts, chosen)}
            openRun={search.run}
            onOpen={(run) => change({ run }, false)}
          />
        </>
      )}
      <RangeDialog data={data} />
      <Details
        isOpen={search.run !== undefined}
        onClose={() => change({ run: undefined }, false)}
        title={openInterval ? <IntervalText {...openInterval} /> : 'Run'}
      >
        {search.run !== undefined && <RunDetails key={search.run} data={data} runId={search.run} />}
      </Details>
    </div>
  )
}

type ChoiceProps = {
  accounts: readonly IntervalAccount[]
  chosen: Range | null
  zone: string
  projectZone: string
  onClear: () => void
}

function ChoiceText({ accounts, chosen, zone, projectZone, onClear }: ChoiceProps) {
  if (chosen === null)
    return (
      <Text size="sm" c="dimmed">
        Each column is one interval: height by events, colour and shape by state. A click opens the run,
        dragging chooses a range.
        {zone !== projectZone && ` Columns stand by the clocks of ${zone}.`}
      </Text>
    )
  const part = within(accounts, chosen)
  const { received, exported } = sumOf(part)
  return (
    <Group gap="sm">
      <Text size="sm">
        {countText(part.length)} {part.length === 1 ? 'interval' : 'intervals'},{' '}
        {received !== null && `${countText(received)} received, `}
        {countText(exported)} exported
      </Text>
      <Button variant="subtle" size="compact-sm" onClick={onClear}>
        Clear the choice
      </Button>
    </Group>
  )
}

/** What makes it whole, for the chosen range or for everything. */
function Heal({
  accounts,
  chosen,
  hasSkipped,
}: {
  accounts: readonly IntervalAccount[]
  chosen: Range | null
  hasSkipped: boolean
}) {
  const path = useExportPath()
  const part = sumOf(chosen === null ? accounts : within(accounts, chosen))
  const mayMiss = chosen === null ? hasSkipped || missingIn(part) > 0 : true
  const range = { start_at: chosen?.from ?? null, end_at: chosen?.to ?? accounts[0]!.data_interval_end }
  // Filters are not applied to what no run has looked at: only the estimate knows how much of it would go out.
  const missing = useQuery({ ...estimateQuery(path, range), enabled: mayMiss }).data?.rows ?? 0
  const link = (ask: 'backfill' | 'repair') => linkToExport(path, 'proof', { ...chosen, ask })
  return (
    <Group gap="sm">
      {missing > 0 && (
        <Button renderRoot={(props) => <Link {...link('backfill')} {...props} />}>
          Backfill what is missing ({countText(missing)})
        </Button>
      )}
      {part.exported > 0 && (
        <Button variant="default" renderRoot={(props) => <Link {...link('repair')} {...props} />}>
          Repair
        </Button>
      )}
    </Group>
  )
}
