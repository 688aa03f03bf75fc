// What an app may read of why the host did not do as it asked.

export class HostError extends Error {}
