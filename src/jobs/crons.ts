/** The cron schedules of the jobs. `npm run check` compares them with wrangler.toml. */
export const CRON_SCHEDULES = {
  propagate: '* * * * *',
  expire: '17 * * * *',
  storage: '*/10 * * * *',
  report: '5 6 * * *',
  // After 16:00 CET in summer and winter. Cloudflare counts weekdays from Sunday, so they have names.
  rates: '20 15,16,18,21 * * MON-FRI',
} as const
