/** When something is due, as wrangler.toml says it, too; `npm run check` compares them. */
export const CRON_SCHEDULES = {
  tell: '* * * * *',
  forget: '17 * * * *',
  report: '5 6 * * *',
} as const
