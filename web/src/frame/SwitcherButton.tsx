import { UnstyledButton } from '@mantine/core'
import type { ComponentPropsWithRef } from 'react'
import { Icon, type IconName } from '../ui/Icon'
import classes from './Rail.module.css'

export type SwitcherProps = {
  label: string
  icon: IconName
  name: string
  choices: readonly { id: string; name: string }[]
  current: string | undefined
  onChoose: (id: string) => void
  isFolded: boolean
  isMain?: boolean
}

type Props = Pick<SwitcherProps, 'label' | 'icon' | 'name' | 'isFolded' | 'isMain'> &
  ComponentPropsWithRef<'button'>

export function SwitcherButton({ label, icon, name, isFolded, isMain, ...button }: Props) {
  return (
    <UnstyledButton
      {...button}
      className={classes.switcher}
      data-main={isMain}
      aria-label={`${label}: ${name}`}
    >
      {isFolded ? <Icon name={icon} /> : <span className="cut">{name}</span>}
      {!isFolded && <Icon name="down" size={12} />}
    </UnstyledButton>
  )
}
