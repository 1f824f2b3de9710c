// The public types stand in types.d.ts; nothing of them exists at run time.
export {};
