/** The one origin in all that is kept in the repository; what is served names `BASE_URL` in its place. */
export const ORIGIN = 'https://api.tributary.example'
