// Dense tables for every list: a real table to those who listen, only the rows in sight in the page, so that ten thousand
// scroll like ten. A row opens by click and by Enter; arrow keys go from row to row.
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useEffectEvent, useRef, type KeyboardEvent, type ReactNode } from 'react'
import classes from './DataTable.module.css'

export type Column<Row> = {
  key: string
  title: ReactNode
  cell: (row: Row) => ReactNode
  /** As CSS grid says it: `120px`, `2fr`, `minmax(80px, 1fr)`. */
  width?: string
  align?: 'start' | 'end'
  /** Left out when there is little room. */
  isExtra?: boolean
}

export type TableProps<Row> = {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  onOpen?: (row: Row) => void
  /** What opening does, for those who listen. */
  openLabel?: (row: Row) => string
  /** The key of the row whose details are open. */
  openKey?: string
  /** Called when the end comes in sight. */
  onEnd?: () => void
  /** Below the last row: what loads, or that this is all. */
  foot?: ReactNode
  isCompact?: boolean
  /** Rows that have just come show it for a moment. */
  isNew?: (row: Row) => boolean
  /** Tables within a page scroll with it up to this many rows; longer ones in themselves. */
  height?: string
}

const ROW_PX = { normal: 36, compact: 32 }
/** Each row beyond the edge is drawn in every frame of a quick scroll. */
const OVERSCAN = 6

export function DataTable<Row>(props: TableProps<Row>) {
  const { label, columns, rows, rowKey, onOpen, openKey, onEnd, foot, isCompact = false, height } = props
  const scroller = useRef<HTMLDivElement>(null)
  const size = isCompact ? ROW_PX.compact : ROW_PX.normal
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => size,
    overscan: OVERSCAN,
    getItemKey: (index) => rowKey(rows[index]!),
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  const end = useEffectEvent(() => onEnd?.())
  useEffect(() => {
    if (last >= rows.length - 1 && rows.length > 0) end()
  }, [last, rows.length])

  const template = (shown: readonly Column<Row>[]) =>
    shown.map(({ width = '1fr' }) => (/^\d*\.?\d*fr$/.test(width) ? `minmax(0, ${width})` : width)).join(' ')
  const sizes = {
    '--columns': template(columns),
    '--columns-narrow': template(columns.filter(({ isExtra }) => isExtra !== true)),
    '--row': `${size}px`,
  }
  const open = (row: Row) => () => onOpen?.(row)
  const keys = (row: Row) => (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.target !== event.currentTarget) return
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault()
      onOpen?.(row)
    }
    const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key] as
      | 'nextElementSibling'
      | 'previousElementSibling'
      | undefined
    const neighbour = step && event.currentTarget[step]
    if (neighbour instanceof HTMLElement && neighbour.role === 'row') {
      event.preventDefault()
      neighbour.focus()
    }
  }

  return (
    <div
      ref={scroller}
      className={classes.scroller}
      data-bounded={height !== undefined || undefined}
      style={height === undefined ? undefined : { height }}
      tabIndex={onOpen ? undefined : 0}
      role="region"
      aria-label={label}
    >
      <div
        role="table"
        aria-label={label}
        aria-rowcount={rows.length + 1}
        className={classes.table}
        style={sizes as object}
      >
        <div role="rowgroup" className={classes.head}>
          <div role="row" className={classes.row} aria-rowindex={1}>
            {columns.map(({ key, title, align, isExtra }) => (
              <div
                key={key}
                role="columnheader"
                className={classes.cell}
                data-align={align}
                data-extra={isExtra || undefined}
              >
                {title}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={classes.body} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ key, index, start }) => {
            const row = rows[index]!
            return (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 2}
                aria-label={onOpen && props.openLabel ? props.openLabel(row) : undefined}
                aria-selected={openKey === undefined ? undefined : rowKey(row) === openKey}
                className={`${classes.row} ${classes.item}`}
                data-opens={onOpen ? true : undefined}
                data-new={props.isNew?.(row) || undefined}
                style={{ transform: `translateY(${start}px)` }}
                {...(onOpen ? { tabIndex: 0, onClick: open(row), onKeyDown: keys(row) } : {})}
              >
                {columns.map(({ key: column, cell, align, isExtra }) => (
                  <div
                    key={column}
                    role="cell"
                    className={classes.cell}
                    data-align={align}
                    data-extra={isExtra || undefined}
                  >
                    {cell(row)}
                  </div>
                ))}
              </div>
            )
          })}
        </div>
      </div>
      {foot !== undefined && <div className={classes.foot}>{foot}</div>}
    </div>
  )
}
