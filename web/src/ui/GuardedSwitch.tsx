// A switch that somebody may not flip is there, and says why.
import { Switch, type SwitchProps } from '@mantine/core'
import classes from './Guarded.module.css'
import { Tip } from './Tip'

type Props = SwitchProps & {
  /** Null when allowed. */
  denial: string | null
}

export function GuardedSwitch({ denial, ...props }: Props) {
  if (denial === null) return <Switch {...props} />
  // Not `disabled`: that could be reached neither by the keyboard nor by whoever listens.
  return (
    <Tip label={denial}>
      <Switch
        {...props}
        aria-disabled="true"
        aria-description={denial}
        className={classes.denied}
        onChange={() => undefined}
      />
    </Tip>
  )
}
