import { Text } from '@mantine/core'
import { countText } from '../../ui/format'
import { Icon } from '../../ui/Icon'
import type { IntervalAccount } from '../queries'
import { IntervalText } from '../runs/IntervalText'
import { balanceOf, PART_NAMES, type Balance, type Counts } from './balance'
import classes from './BalanceBar.module.css'

type Props = { counts: Counts; model: string; accounts: readonly IntervalAccount[] }
const MOST_NAMED = 5

/** Received = exported + filtered + skipped + pending: lengths in the order of their numbers, and whether they add up. */
export function BalanceBar({ counts, model, accounts }: Props) {
  const balance = balanceOf(counts)
  if (balance === null) return <OnlyExported exported={counts.exported} model={model} />
  const { received, parts, addsUp, difference } = balance
  return (
    <div>
      <div className={classes.head}>
        <span className={classes.label}>Received</span>
        <span className={classes.received}>{countText(received)}</span>
        <span className={classes.unit}>{received === 1 ? 'event' : 'events'}</span>
      </div>
      <div className={classes.bar} role="img" aria-label={aloud(balance)} data-broken={!addsUp || undefined}>
        {parts.map(
          ({ name, rows, share }) =>
            rows > 0 && (
              <span
                key={name}
                className={classes.part}
                data-part={name}
                style={{ flexGrow: share }}
                title={`${PART_NAMES[name]} ${countText(rows)}`}
              />
            ),
        )}
        {difference > 0 && (
          <span
            className={classes.part}
            data-part="unknown"
            style={{ flexGrow: difference / received }}
            title={`in no part: ${countText(difference)}`}
          />
        )}
        {received === 0 && difference === 0 && (
          <span className={classes.part} data-part="none" style={{ flexGrow: 1 }} />
        )}
      </div>
      <ul className={classes.legend}>
        {parts.map(({ name, rows }) => (
          <li key={name} className={classes.entry} data-none={rows === 0 || undefined}>
            <span className={classes.swatch} data-part={name} aria-hidden="true" />
            {PART_NAMES[name]} <b>{countText(rows)}</b>
          </li>
        ))}
      </ul>
      {addsUp ? (
        <p className={classes.adds}>
          <Icon name="check" size={14} /> adds up
        </p>
      ) : (
        <Broken difference={difference} accounts={accounts} />
      )}
    </div>
  )
}

function Broken({ difference, accounts }: { difference: number; accounts: readonly IntervalAccount[] }) {
  const open = accounts.filter((account) => balanceOf(account)?.addsUp === false)
  return (
    <div className={classes.broken} role="alert">
      <p>
        <Icon name="warning" size={14} /> does not add up:{' '}
        {difference > 0
          ? `${countText(difference)} received events are in no part.`
          : `the parts hold ${countText(-difference)} more rows than events were received.`}
      </p>
      {open.length > 0 ? (
        <ul>
          {open.slice(0, MOST_NAMED).map((account) => (
            <li key={account.run}>
              <IntervalText {...account} />: {countText(account.received ?? 0)} received,{' '}
              {countText(account.exported)} exported, {countText(account.filtered_out ?? 0)} filtered,{' '}
              {countText(account.skipped ?? 0)} skipped, {countText(account.pending ?? 0)} pending
            </li>
          ))}
          {open.length > MOST_NAMED && <li>and {countText(open.length - MOST_NAMED)} more intervals</li>}
        </ul>
      ) : (
        <p>Every interval shown below adds up; the open positions lie before them or in a backfill.</p>
      )}
      <p>Verify the export to learn which rows they are.</p>
    </div>
  )
}

function OnlyExported({ exported, model }: { exported: number; model: string }) {
  return (
    <div>
      <div className={classes.head}>
        <span className={classes.label}>Exported</span>
        <span className={classes.received}>{countText(exported)}</span>
        <span className={classes.unit}>rows</span>
      </div>
      <Text size="sm" c="dimmed">
        {model === 'persons' ? 'Persons' : 'Sessions'} change and are exported again, so there is no number of
        received ones to add up to. What was delivered can be read back.
      </Text>
    </div>
  )
}

function aloud({ received, parts, addsUp }: Balance): string {
  const told = parts.map(({ name, rows }) => `${PART_NAMES[name]} ${countText(rows)}`).join(', ')
  return `Of ${countText(received)} received: ${told}. ${addsUp ? 'It adds up.' : 'It does not add up.'}`
}
