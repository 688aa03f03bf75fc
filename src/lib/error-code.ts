// The code of a system or PostgreSQL error (`ENOENT`, `57P03`); '' where there is none.

export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
