// Details of a row, from the right, with an address of their own: the page says when they are open by its address, and
// Escape goes back to the list as it was.
import { lazy, Suspense, useState, type ReactNode } from 'react'

export type DetailsProps = {
  isOpen: boolean
  onClose: () => void
  title: ReactNode
  children: ReactNode
  size?: string
}

const DetailsDrawer = lazy(() =>
  import('./DetailsDrawer').then(({ DetailsDrawer }) => ({ default: DetailsDrawer })),
)

/** What draws it is loaded when the first is opened. */
export function Details(props: DetailsProps) {
  const [wasOpen, setWasOpen] = useState(props.isOpen)
  if (props.isOpen && !wasOpen) setWasOpen(true)
  return <Suspense fallback={null}>{wasOpen && <DetailsDrawer {...props} />}</Suspense>
}
