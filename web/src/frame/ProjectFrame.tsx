// Pages of one project: times are in its zone.
import { Outlet } from '@tanstack/react-router'
import { useProject } from '../api/me'
import { ZoneContext } from '../ui/Values'

export function ProjectFrame() {
  const { timezone } = useProject()
  return (
    <ZoneContext value={timezone}>
      <Outlet />
    </ZoneContext>
  )
}
