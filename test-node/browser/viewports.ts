/** The sizes of the windows in which pages are checked, in pixels: the phone is the narrowest for which they are made. */
export const DESKTOP = { width: 1280, height: 800 }
export const PHONE = { width: 360, height: 740 }
