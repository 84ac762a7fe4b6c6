import './fails.mjs';
