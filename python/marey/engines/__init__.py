"""Engines that read the files of many ranks elsewhere. Each is imported by who asks for it."""
