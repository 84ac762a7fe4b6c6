/** Memory of Dynamips routers for which a file of another program names none, by platform. MiB. */
export const routerMemory: Readonly<Record<string, number>> = {
  c1700: 160,
  c2600: 160,
  c2691: 192,
  c3600: 192,
  c3725: 128,
  c3745: 256,
  c7200: 512,
};
