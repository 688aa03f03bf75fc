// The menu of a switcher, with a filter once there are many. It opens as it comes: somebody has asked for it.
import { Menu, TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { Icon } from '../ui/Icon'
import classes from './Rail.module.css'
import { SwitcherButton, type SwitcherProps } from './SwitcherButton'

const MANY = 8

export function SwitcherMenu({ choices, current, onChoose, ...button }: SwitcherProps) {
  const target = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const [filter, setFilter] = useState('')
  useEffect(() => {
    // It goes back there when the menu is closed.
    target.current?.focus()
    setOpen(true)
  }, [])
  const shown = choices.filter((choice) => choice.name.toLowerCase().includes(filter.toLowerCase()))
  return (
    <Menu
      position="bottom-start"
      width={240}
      opened={isOpen}
      onChange={setOpen}
      onClose={() => setFilter('')}
      // Within the menu's landmark.
      withinPortal={false}
    >
      <Menu.Target>
        <SwitcherButton {...button} ref={target} />
      </Menu.Target>
      <Menu.Dropdown>
        {choices.length > MANY && (
          <TextInput
            aria-label="Filter by name"
            placeholder="Filter by name"
            value={filter}
            onChange={(event) => setFilter(event.currentTarget.value)}
            m={4}
            data-autofocus
          />
        )}
        <div className={classes.choices}>
          {shown.map(({ id, name }) => (
            <Menu.Item
              key={id}
              onClick={() => id !== current && onChoose(id)}
              rightSection={id === current ? <Icon name="check" size={14} /> : null}
              aria-current={id === current ? 'true' : undefined}
            >
              {name}
            </Menu.Item>
          ))}
        </div>
      </Menu.Dropdown>
    </Menu>
  )
}
