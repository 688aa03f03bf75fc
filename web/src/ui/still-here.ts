// An answer that leads somewhere must not call back whoever has gone on meanwhile.
import { useRouter } from '@tanstack/react-router'

/** Called when a question is sent: gives whether the page is still the same, to be called when it is answered. */
export function useStillHere(): () => () => boolean {
  const router = useRouter()
  return () => {
    const { pathname } = router.latestLocation
    return () => router.latestLocation.pathname === pathname
  }
}
