/** The cron schedules of the jobs. `npm run check` compares them with wrangler.toml. */
export const CRON_SCHEDULES = {
  propagate: '* * * * *',
  expire: '17 * * * *',
  storage: '*/10 * * * *',
  report: '5 6 * * *',
} as const
