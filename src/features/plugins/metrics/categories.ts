// What calls are counted by.

export const CATEGORIES = [
  'processEvent',
  'onEvent',
  'exportEvents',
  'scheduledTask',
  'webhook',
  'composeWebhook',
] as const
export type Category = (typeof CATEGORIES)[number]
