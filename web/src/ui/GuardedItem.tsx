// An entry of a menu that somebody may not choose is there, and says why.
import { Menu, type MenuItemProps } from '@mantine/core'
import type { ComponentPropsWithoutRef } from 'react'
import classes from './Guarded.module.css'
import { Tip } from './Tip'

type Props = MenuItemProps &
  ComponentPropsWithoutRef<'button'> & {
    /** Null when allowed. */
    denial: string | null
  }

export function GuardedItem({ denial, ...item }: Props) {
  if (denial === null) return <Menu.Item {...item} />
  // Neither `disabled` nor `data-disabled`: the arrow keys would pass it by, and its reason with it.
  return (
    <Tip label={denial}>
      <Menu.Item
        {...item}
        aria-disabled="true"
        className={classes.denied}
        closeMenuOnClick={false}
        onClick={(event) => event.preventDefault()}
      />
    </Tip>
  )
}
