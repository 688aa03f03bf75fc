import { Radio, SegmentedControl, Stack } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../ui/Icon'
import {
  accessOf,
  EVERYTHING,
  otherScopes,
  SCOPE_KINDS,
  withAccess,
  type Access,
  type ScopeKind,
} from './scopes'
import classes from './ScopeGrid.module.css'

type Props = {
  value: readonly string[]
  onChange: (scopes: string[]) => void
  error?: string
  /** Kinds of things that such a key has nothing to do with. */
  without?: readonly string[]
}

/** Everything, or line by line: nothing, reading, reading and changing. */
export function ScopeGrid({ value, onChange, error, without = [] }: Props) {
  const isAll = value.includes(EVERYTHING)
  const [chosen, setChosen] = useState<readonly string[]>(isAll ? [] : value)
  const choose = (kind: string) => {
    if (!isAll) setChosen(value)
    onChange(kind === 'all' ? [EVERYTHING] : [...chosen])
  }
  const others = otherScopes(value)
  return (
    <Stack gap="sm">
      <Radio.Group
        label="What it may do"
        name="scopes"
        value={isAll ? 'all' : 'chosen'}
        onChange={choose}
        error={error}
      >
        <Stack gap="sm" mt="sm">
          <Radio value="chosen" label="Only what is chosen here" />
          <Radio
            value="all"
            label="Everything that its owner may do"
            description={
              <>
                The scope <code>*</code>: also what is added later
              </>
            }
          />
        </Stack>
      </Radio.Group>
      {!isAll && (
        <div className={classes.grid} role="group" aria-label="Scopes">
          {SCOPE_KINDS.filter(({ object }) => !without.includes(object)).map((kind) => (
            <Line
              key={kind.object}
              kind={kind}
              value={accessOf(value, kind.object)}
              onChange={(access) => onChange(withAccess(value, kind.object, access))}
            />
          ))}
          {others.length > 0 && (
            <p className={classes.others}>
              Also has <span className="mono">{others.join(', ')}</span>, which nothing here asks for.
            </p>
          )}
        </div>
      )}
    </Stack>
  )
}

function Line({
  kind,
  value,
  onChange,
}: {
  kind: ScopeKind
  value: Access
  onChange: (access: Access) => void
}) {
  const choices = [
    { value: 'none', label: 'None' },
    { value: 'read', label: 'Read' },
    ...(kind.canWrite ? [{ value: 'write', label: 'Change' }] : []),
  ]
  return (
    <div className={classes.line} data-on={value !== 'none' || undefined}>
      <div className={classes.what}>
        <span className={classes.mark}>{value !== 'none' && <Icon name="check" size={12} />}</span>
        <span>
          {kind.label}
          <span className={classes.text}>{kind.text}</span>
        </span>
      </div>
      <SegmentedControl
        size="xs"
        aria-label={kind.label}
        data={choices}
        value={value}
        onChange={(access) => onChange(access as Access)}
      />
    </div>
  )
}
